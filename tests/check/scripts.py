# SPDX-License-Identifier: Apache-2.0
"""Checks of shell and Python files. Each yields one line per wrong place."""
import ast
import subprocess
import sys


def run(argv):
    """The lines that a program complains with; none if it ends well."""
    done = subprocess.run(argv, capture_output=True, text=True)
    return (done.stdout + done.stderr).splitlines() if done.returncode else []


def shell(files):
    """Shell scripts parse."""
    for name in files.of(".sh"):
        yield from run(["bash", "-n", name])


def shellcheck(files):
    """shellcheck has nothing to say."""
    for name in files.of(".sh"):
        yield from run(["shellcheck", "-x", "-S", "warning", "-f", "gcc", name])


shellcheck.needs = ("shellcheck",)


def python(files):
    """Python files compile."""
    for name in files.of(".py"):
        try:
            compile(files.text(name), name, "exec")
        except SyntaxError as error:
            yield f"{name}:{error.lineno}: {error.msg}"


def modules_of(tree):
    """(line, top-level module) of every import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.split(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module.split(".")[0]


# Some tests serve with frameworks, and one reads YAML: the packages that tests/lab/packages.sh installs.
FRAMEWORKS = {"tests/accuracy/apps/python/aio.py": {"aiohttp", "uvloop"},
              "tests/accuracy/apps/python/reader.py": {"waitress"},
              "tests/accuracy/apps/python/tornado_app.py": {"tornado"},
              "tests/accuracy/apps/python/asgi.py": {"anyio", "httpx", "starlette"},
              "tests/image/manifest.py": {"yaml"},
              "tests/profile/burn_greenlets.py": {"eventlet", "gevent"},
              "tests/profile/hello.py": {"aiohttp", "gevent"},
              "tests/samples/python/aio.py": {"aiohttp", "uvloop"},
              "tests/samples/python/asgi.py": {"fastapi", "quart", "starlette"},
              "tests/samples/python/tornado_app.py": {"tornado"},
              "tests/kubernetes/kubernetes.py": {"yaml"},
              "tests/net/programs/echo_aiohttp.py": {"aiohttp"},
              "tests/net/programs/grpc_echo.py": {"grpc"},
              "tests/net/programs/hold_aiohttp.py": {"aiohttp"},
              "tests/net/programs/echo_uvicorn.py": {"uvicorn"}}


def python_imports(files):
    """Python needs its standard library only."""
    ours = {name.rsplit("/", 1)[-1].removesuffix(".py") for name in files.all_names}
    for name in files.of(".py"):
        for line, module in modules_of(ast.parse(files.text(name))):
            known = ours | sys.stdlib_module_names | FRAMEWORKS.get(name, set())
            if module not in known:
                yield f"{name}:{line}: {module} is not in the standard library"


def imported_names(tree):
    """(line, name) of everything that an import binds."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                yield node.lineno, (alias.asname or alias.name).split(".")[0]


def python_unused(files):
    """Every import is used."""
    for name in files.of(".py"):
        tree = ast.parse(files.text(name))
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        for line, bound in imported_names(tree):
            if bound not in used:
                yield f"{name}:{line}: {bound} is imported and not used"
