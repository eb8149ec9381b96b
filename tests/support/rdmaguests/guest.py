# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""One guest: a QEMU process, the folder that it and its guest talk through, and what it prints."""

import dataclasses
import os
import pathlib
import re
import shlex
import subprocess
import threading

from . import images

GUEST_FAILED = 125
OWN_VARIABLES = re.compile(r"NODE_(ID|COUNT|ADDRS?|HOSTS|SHARED)|RDMA_DEVICES")
NAME = re.compile(r"[A-Za-z_]\w*")


@dataclasses.dataclass
class Shape:
    """What the guests of a run are made of."""
    nodes: int
    rails: int
    cpus: int
    mem_mib: int
    mtu: int
    device: bool
    nfs: bool
    writable: list  # folders shared with this machine


class Guest:
    """A guest that has been started."""

    def __init__(self, number, shape, boot, folder, command):
        """`boot`: QEMU's arguments that are the same for all. `folder` belongs to the run; the guest's own is below."""
        self.number = number
        self.folder = folder / f"node{number}"
        control = self.folder / "control"
        control.mkdir(parents=True, mode=0o700)
        (control / "config").write_text(_config(number, shape))
        (control / "run").write_text(_script(command))
        self.console = self.folder / "console"
        self.console.touch()
        self.pipes = [os.pipe(), os.pipe()]
        ends = [write for _, write in self.pipes]
        words = [*boot, "-name", f"rdmavm-{number}", *self._devices(ends), *self._folders(control, folder, shape),
                 *_network(number, shape, folder)]
        with open(self.folder / "qemu", "wb") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=ends)
        for end in ends:
            os.close(end)
        self.copiers = []

    def _devices(self, ends):
        words = ["-serial", f"file:{self.console}", "-object", "rng-random,id=rng,filename=/dev/urandom",
                 "-device", "virtio-rng-pci,rng=rng", "-device", "virtio-serial-pci"]
        for name, end in zip(("out", "err"), ends):
            words += ["-chardev", f"file,id={name},path=/dev/fd/{end}",
                      "-device", f"virtserialport,chardev={name},name={name}"]
        return words

    @staticmethod
    def _folders(control, folder, shape):
        shares = [("root", "/", "security_model=none,readonly=on,multidevs=remap"),
                  ("control", control, "security_model=none"), ("shared", folder / "shared", "security_model=none")]
        model = "passthrough" if os.geteuid() == 0 else "none"
        shares += [(f"rw{i}", path, f"security_model={model},multidevs=remap") for i, path in enumerate(shape.writable)]
        words = []
        for tag, path, options in shares:
            words += ["-fsdev", f"local,id={tag},path={str(path).replace(',', ',,')},{options}",
                      "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
        return words

    def copy_output(self, streams, label):
        """Copies what the guest prints, in threads of their own, to its standard output and error."""
        for (read, _), stream in zip(self.pipes, streams):
            self.copiers.append(threading.Thread(target=_copy, args=(read, stream, label), daemon=True))
            self.copiers[-1].start()

    def status(self):
        """The exit status of the command; None when the guest ended without one."""
        try:
            return int((self.folder / "control" / "status").read_text())
        except (OSError, ValueError):
            return None

    def end(self):
        """Ends it if it still runs, and lets its last output through."""
        self.process.kill()
        self.process.wait()
        for copier in self.copiers:
            copier.join()

    def last_words(self):
        """The end of what QEMU and the guest's kernel have said."""
        texts = [(self.folder / "qemu").read_text(errors="replace"), self.console.read_text(errors="replace")]
        return "\n".join(line.rstrip() for text in texts for line in text.splitlines()[-30:])


def boot_words(image, initramfs, shape, accel):
    """QEMU and its arguments that are the same for all guests."""
    clock = ""
    if accel == "tcg" and image.clock.exists():
        rate = subprocess.run([image.clock], capture_output=True, text=True, check=False).stdout.strip()
        clock = f"tsc=reliable tsc_early_khz={rate}" if rate.isdecimal() else ""
    kernel_line = f"""console=ttyS0,115200 quiet loglevel=4 panic=-1 oops=panic nowatchdog mitigations=off nokaslr
        {clock} random.trust_cpu=on audit=0 apparmor=0 no_timer_check rcupdate.rcu_expedited=1 cryptomgr.notests
        net.ifnames=0"""
    # Should this program be killed outright, the guest goes with it.
    return ["setpriv", "--pdeathsig", "KILL", images.find("qemu-system-x86_64"), "-nodefaults", "-no-user-config",
            "-display", "none", "-no-reboot", "-machine", "pc,hpet=off,usb=off",
            "-accel", "kvm" if accel == "kvm" else "tcg,thread=multi,tb-size=256", "-cpu", "max",
            "-smp", str(shape.cpus), "-m", str(shape.mem_mib), "-kernel", str(image.kernel), "-initrd", str(initramfs),
            "-append", " ".join(kernel_line.split())]


def choose_accel(wanted):
    """Emulation is enough; a kernel with KVM is faster."""
    if wanted != "auto":
        return wanted
    flags = re.search(r"^flags\s*:.*\b(vmx|svm)\b", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return "kvm" if flags and os.access("/dev/kvm", os.R_OK | os.W_OK) else "tcg"


def _config(number, shape):
    """Read by init.sh."""
    lines = [f"id={number} nodes={shape.nodes} rails={shape.rails} mtu={shape.mtu} device={int(shape.device)}",
             f"rw_count={len(shape.writable)}"]
    lines += [f"rw_{i}={shlex.quote(path)}" for i, path in enumerate(shape.writable)]
    return "\n".join(lines) + "\n"


def _script(command):
    """The command with this process's environment and folder, but for the guest's own variables."""
    lines = [f"export {name}={shlex.quote(value)}" for name, value in os.environ.items()
             if NAME.fullmatch(name) and not OWN_VARIABLES.fullmatch(name)]
    lines += ["ulimit -l unlimited", f"cd {shlex.quote(os.getcwd())} || exit {GUEST_FAILED}",
              f"exec {shlex.join(command)}"]
    return "\n".join(lines) + "\n"


def _network(number, shape, folder):
    """Streams over Unix sockets: no address, port or right of this machine is used and no packet gets lost. Two guests
    have one wire; of more, the first also plays the hub that joins the wires of the others. One alone needs none."""
    words = []
    for rail in range(shape.rails if shape.nodes > 1 else 0):
        wires = {peer: f"addr.type=unix,addr.path={wire(folder, rail, peer)}" for peer in range(1, shape.nodes)}
        card = f"n{rail}"
        if number > 0:
            words += ["-netdev", f"stream,id={card},server=off,{wires[number]}"]
        elif shape.nodes == 2:
            words += ["-netdev", f"stream,id={card},server=on,{wires[1]}"]
        else:
            words += ["-netdev", f"hubport,id={card},hubid={rail}"]
            for peer, place in wires.items():
                words += ["-netdev", f"stream,id=w{rail}.{peer},server=on,{place}",
                          "-netdev", f"hubport,id=h{rail}.{peer},hubid={rail},netdev=w{rail}.{peer}"]
        words += ["-device", f"virtio-net-pci,netdev={card},romfile=,host_mtu={shape.mtu},"
                             f"mac=52:54:00:77:{rail:02x}:{number + 1:02x}"]
    return words


def wire(folder, rail, peer):
    """The socket that the first guest listens on for another one."""
    return folder / f"wire.{rail}.{peer}"


def _copy(descriptor, stream, label):
    """Copies to the end; with a label by lines, so that those of several guests do not mix."""
    with open(descriptor, "rb", buffering=0) as source:
        if not label:
            while piece := source.read(65536):
                stream.write(piece)
                stream.flush()
            return
        rest = b""
        while piece := source.read(65536):
            *lines, rest = (rest + piece).split(b"\n")
            stream.write(b"".join(label + line + b"\n" for line in lines))
            stream.flush()
        if rest:
            stream.write(label + rest + b"\n")
            stream.flush()
