"""Fixtures of the SDK and receiver tests: the SDKs now and ten minutes on, and web applications."""
import pytest

from support.sdks import Application, SdkProcess, faketime_environment

LATER = "+10m"


@pytest.fixture(scope="session")
def sdks():
    """The SDKs of both languages, by language."""
    with SdkProcess("node") as node, SdkProcess("python") as python:
        yield {"node": node, "python": python}


@pytest.fixture(scope="session")
def later():
    """What moves a process's clock ten minutes on."""
    return faketime_environment(LATER)


@pytest.fixture(scope="session")
def later_sdks(later):
    with SdkProcess("node", later) as node, SdkProcess("python", later) as python:
        yield {"node": node, "python": python}


@pytest.fixture
def serve(tmp_path):
    """serve(server, application, search, **environment) starts a web application in the test's directory."""
    running = []

    def begin(server, application, search, **environment):
        running.append(Application(server, application, tmp_path, search, environment))
        return running[-1]

    yield begin
    for application in running:
        application.stop()
