/* Preloaded into the gateway: writes down, in their true order, the calls that change the inbox's files or make changes
 * durable. What is in the record, and how a power cut is made of it: support/power_record.py and support/power_disk.py.
 *
 * HOOKONCE_POWER_INBOX    the database file, as a canonical path
 * HOOKONCE_POWER_RECORD   the file to append to
 * HOOKONCE_POWER_SWALLOW  a file whose syncs are answered with success and not done: the disk that lies, for canaries
 *
 * Calls that SQLite does not make are not here; the tests compare the record's end with the real files, so one that was
 * missed shows.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { kOther, kMain, kLog, kJournal, kFolder, kFiles };
enum { kDescriptorsMax = 65536 };

struct entry {
  int64_t at; /* CLOCK_MONOTONIC, nanoseconds */
  uint64_t position;
  uint32_t length; /* of the bytes that follow */
  uint8_t kind;
  uint8_t file;
  uint8_t unused[2];
};

static char names[kFiles][PATH_MAX];
static const char* swallowed = "";
static int record = -1;
static unsigned char file_of[kDescriptorsMax];
static uint64_t syncs;
/* Held over a call and its entry, so that the order of the entries is that of the calls. */
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

static int (*real_open)(const char*, int, ...);
static int (*real_close)(int);
static ssize_t (*real_pwrite)(int, const void*, size_t, off64_t);
static int (*real_ftruncate)(int, off64_t);
static int (*real_unlink)(const char*);
static int (*real_fdatasync)(int);

/* Constructors of other libraries, an allocator's say, open and close files before this one's is called; hence also from
 * there. */
static void begin(void) __attribute__((constructor));
static void begin(void) {
  if (record >= 0) return;
  real_open = dlsym(RTLD_NEXT, "open64");
  real_close = dlsym(RTLD_NEXT, "close");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  const char* inbox = getenv("HOOKONCE_POWER_INBOX");
  const char* path = getenv("HOOKONCE_POWER_RECORD");
  if (inbox == NULL || path == NULL || strlen(inbox) + sizeof "-journal" > PATH_MAX) abort();
  strcpy(names[kMain], inbox);
  strcpy(stpcpy(names[kLog], inbox), "-wal");
  strcpy(stpcpy(names[kJournal], inbox), "-journal");
  strcpy(names[kFolder], inbox);
  dirname(names[kFolder]);
  if (getenv("HOOKONCE_POWER_SWALLOW") != NULL) swallowed = getenv("HOOKONCE_POWER_SWALLOW");
  record = real_open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (record < 0) abort();
}

static int file_named(const char* path) {
  for (int file = kMain; file < kFiles; ++file) {
    if (strcmp(path, names[file]) == 0) return file;
  }
  return kOther;
}

static int file_at(int descriptor) {
  return descriptor >= 0 && descriptor < kDescriptorsMax ? file_of[descriptor] : kOther;
}

/* The caller holds `order`. A record with a gap would prove nothing, hence abort(). */
static void append(char kind, int file, uint64_t position, const void* bytes, size_t length) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t at = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
  struct entry entry = {at, position, (uint32_t)length, (uint8_t)kind, (uint8_t)file, {0, 0}};
  struct iovec parts[] = {{&entry, sizeof entry}, {(void*)bytes, length}};
  const int saved = errno;
  if (writev(record, parts, 2) != (ssize_t)(sizeof entry + length)) abort();
  errno = saved;
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  begin();
  const int file = file_named(path);
  if (file == kOther) return real_open(path, flags, mode);
  pthread_mutex_lock(&order);
  const int is_new = (flags & O_CREAT) != 0 && access(path, F_OK) != 0;
  const int descriptor = real_open(path, flags, mode);
  if (descriptor >= kDescriptorsMax) abort();
  if (descriptor >= 0) {
    file_of[descriptor] = (unsigned char)file;
    if (is_new) append('C', file, 0, NULL, 0);
  }
  pthread_mutex_unlock(&order);
  return descriptor;
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open64(path, flags, mode);
}

int close(int descriptor) {
  begin();
  if (file_at(descriptor) != kOther) file_of[descriptor] = kOther;
  return real_close(descriptor);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t length, off64_t position) {
  const int file = file_at(descriptor);
  if (file == kOther) return real_pwrite(descriptor, bytes, length, position);
  pthread_mutex_lock(&order);
  const ssize_t written = real_pwrite(descriptor, bytes, length, position);
  if (written > 0) append('W', file, (uint64_t)position, bytes, (size_t)written);
  pthread_mutex_unlock(&order);
  return written;
}

ssize_t pwrite(int descriptor, const void* bytes, size_t length, off_t position) {
  return pwrite64(descriptor, bytes, length, position);
}

int ftruncate64(int descriptor, off64_t size) {
  const int file = file_at(descriptor);
  if (file == kOther) return real_ftruncate(descriptor, size);
  pthread_mutex_lock(&order);
  const int result = real_ftruncate(descriptor, size);
  if (result == 0) append('T', file, (uint64_t)size, NULL, 0);
  pthread_mutex_unlock(&order);
  return result;
}

int ftruncate(int descriptor, off_t size) {
  return ftruncate64(descriptor, size);
}

int unlink(const char* path) {
  const int file = file_named(path);
  if (file == kOther) return real_unlink(path);
  pthread_mutex_lock(&order);
  const int result = real_unlink(path);
  if (result == 0) append('U', file, 0, NULL, 0);
  pthread_mutex_unlock(&order);
  return result;
}

/* Not under `order`: other threads go on writing while a disk works, and what they write is not covered. */
int fdatasync(int descriptor) {
  const int file = file_at(descriptor);
  if (file == kOther) return real_fdatasync(descriptor);
  if (strcmp(names[file], swallowed) == 0) return 0;
  pthread_mutex_lock(&order);
  const uint64_t number = ++syncs;
  append('B', file, number, NULL, 0);
  pthread_mutex_unlock(&order);
  const int result = real_fdatasync(descriptor);
  if (result != 0) return result;
  pthread_mutex_lock(&order);
  append('E', file, number, NULL, 0);
  pthread_mutex_unlock(&order);
  return 0;
}

int fsync(int descriptor) {
  return fdatasync(descriptor); /* Which does less: that is enough for what the disk models. */
}
