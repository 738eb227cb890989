"""A name server that never answers: getaddrinfo preloaded with one that blocks for ever for every name under hang.test."""
import subprocess

_SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>
int getaddrinfo(const char* node, const char* service, const struct addrinfo* hints, struct addrinfo** result) {
  int (*real)(const char*, const char*, const struct addrinfo*, struct addrinfo**) = dlsym(RTLD_NEXT, "getaddrinfo");
  while (node && strstr(node, "hang.test")) pause();
  return real(node, service, hints, result);
}
"""


def environment(directory):
    """What the gateway's environment needs; the library is built in `directory`."""
    source, library = directory / "hang.c", directory / "hang.so"
    source.write_text(_SOURCE)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    return {"LD_PRELOAD": str(library)}
