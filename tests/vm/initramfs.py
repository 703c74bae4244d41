# SPDX-License-Identifier: Apache-2.0
"""The initramfs of a guest: busybox, the few modules that mount the host's root, and `init`."""
import lzma
import shutil
import subprocess
from pathlib import Path

MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay")
BUSYBOX = Path("/bin/busybox")
INIT = Path(__file__).with_name("init.sh")


def build(kernel, scratch):
    """Write the initramfs of `kernel` into the empty folder `scratch`; returns its path."""
    tree = scratch / "initramfs"
    for folder in ("bin", "modules", "dev", "proc", "host", "tmp", "root"):
        (tree / folder).mkdir(parents=True)
    shutil.copy(BUSYBOX, tree / "bin/busybox")
    shutil.copy(INIT, tree / "init")
    (tree / "init").chmod(0o755)
    for number, module in enumerate(module_files(kernel)):
        (tree / f"modules/{number:02}-{module.name.split('.')[0]}.ko").write_bytes(read(module))
    return pack(tree, scratch / "initramfs.cpio")


def module_files(kernel):
    """Files of MODULES and what they need, in the order to load them, each once."""
    files = {}
    for name in MODULES:
        plan = subprocess.run(
            ["/sbin/modprobe", "-d", kernel.modules, "-S", kernel.release, "--show-depends", name],
            stdout=subprocess.PIPE, text=True, check=True).stdout
        # Lines read "insmod PATH" or "builtin NAME".
        words = [line.split() for line in plan.splitlines()]
        files.update((Path(w[1]), None) for w in words if w[0] == "insmod")
    return list(files)


def read(module):
    """A module's bytes, unpacked: busybox's insmod does not unpack."""
    if module.suffix == ".xz":
        return lzma.decompress(module.read_bytes())
    if module.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", module], stdout=subprocess.PIPE, check=True).stdout
    return module.read_bytes()


def pack(tree, archive):
    names = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
    with open(archive, "wb") as out:
        subprocess.run(["cpio", "--quiet", "-o", "-H", "newc"], input=names.encode(), stdout=out,
                       cwd=tree, check=True)
    return archive
