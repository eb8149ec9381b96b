# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""What somebody without the key of a job does to a rank of it. Runs on a host of its own (test_strangers.py).

usage: strangers.py record              prints the first handshake that passes by, as "HELLO PROOF", hexadecimal
       strangers.py KIND ADDRESS PORT [HELLO PROOF]
Prints a line for each thing that the rank has said: its length in bytes, and its first bytes.
"""

import hashlib
import hmac
import os
import select
import socket
import struct
import sys
import time

HELLO = struct.Struct(">QIIIBIIBHHH32s")
FIELDS = ("magic", "version", "job", "sender", "engine", "to_job", "to", "to_engine", "lane", "from_port", "to_port", "nonce")
CHALLENGE_BYTES = 80
MAGIC = b"FULMTCPH"
ALL_PROTOCOLS = 3


def payload(frame):
    """The bytes that an Ethernet frame carries over TCP and IPv4, and between which ports."""
    if frame[12:14] != b"\x08\x00" or frame[23] != socket.IPPROTO_TCP:
        return None, b""
    begin = 14 + (frame[14] & 15) * 4
    length = struct.unpack(">H", frame[16:18])[0] + 14
    return frame[begin:begin + 4], frame[begin + (frame[begin + 12] >> 4) * 4:length]


def record():
    listener = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
    print("listening", flush=True)
    hellos = {}
    while True:
        ports, data = payload(listener.recv(65536))
        if data.startswith(MAGIC) and len(data) >= HELLO.size:
            hellos[ports] = data[:HELLO.size]
        elif ports in hellos and len(data) >= 32:
            print(hellos[ports].hex(), data[:32].hex(), flush=True)
            return


def fields_of(hello):
    return dict(zip(FIELDS, HELLO.unpack(hello)))


class Stranger:
    """Connections to one rank."""

    def __init__(self, address, port, recorded):
        self.where = (address, port)
        self.hello, self.proof = (bytes.fromhex(text) for text in recorded) if recorded else (b"", b"")

    def call(self):
        connection = socket.create_connection(self.where, 20)
        connection.settimeout(10)
        return connection

    @staticmethod
    def tell(answer):
        print(len(answer), answer[:8].hex() or "-", flush=True)

    def ask(self, connection, *messages):
        """Says these one after the other, each after an answer. Tells all answers."""
        for message in messages:
            try:
                connection.sendall(message)
                answer = connection.recv(1000)
            except OSError:
                answer = b""
            self.tell(answer)
        connection.close()

    def changed(self, **fields):
        """The recorded hello with other fields, and a nonce of its own."""
        values = fields_of(self.hello) | {"nonce": os.urandom(32)} | fields
        return HELLO.pack(*(values[name] for name in FIELDS))

    def scan(self):
        """All ports around, and this one many times: connects, and is gone."""
        for port in [*range(max(self.where[1] - 500, 1), min(self.where[1] + 500, 65536)), *[self.where[1]] * 200]:
            with socket.socket() as one:
                one.settimeout(5)
                one.connect_ex((self.where[0], port))

    def garbage(self):
        texts = [b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(500),
                 b"\0" * 68, MAGIC, MAGIC + os.urandom(60), MAGIC + b"\xff" * 60]
        for text in [*texts, *(os.urandom(1 << size % 15) for size in range(100))]:
            connection = self.call()
            try:
                connection.sendall(text)
                connection.shutdown(socket.SHUT_WR)
                self.tell(connection.recv(1000))
            except OSError:
                self.tell(b"")
            connection.close()

    def slow(self):
        """More than there are places, all of which say a byte now and then; until the rank has had enough of each."""
        open_ones = {self.call(): 0 for _ in range(150)}
        end = time.monotonic() + 12
        while open_ones and time.monotonic() < end:
            for one, said in list(open_ones.items()):
                try:
                    one.send(self.hello[said:said + 1])
                    open_ones[one] = min(said + 1, HELLO.size - 2)
                    if select.select([one], [], [], 0)[0] and not one.recv(1000):
                        raise ConnectionError
                except OSError:
                    one.close()
                    del open_ones[one]
            time.sleep(0.05)
        print("left", len(open_ones), flush=True)

    def replay(self):
        """What a genuine rank has said."""
        for _ in range(20):
            self.ask(self.call(), self.hello, self.proof)

    def reflect(self):
        """Gives the rank its own proof back, and its own hello."""
        for _ in range(20):
            connection = self.call()
            connection.sendall(self.changed(sender=2))
            challenge = connection.recv(CHALLENGE_BYTES)
            self.tell(challenge)
            self.ask(connection, challenge[-32:])
        hello = fields_of(self.hello)
        self.ask(self.call(), self.changed(sender=hello["to"], to=hello["sender"]))

    def other_job(self):
        for _ in range(20):
            self.ask(self.call(), self.changed(sender=2, job=4711))

    def wrong_key(self):
        """Everything is right but the key."""
        key = os.urandom(32)
        for _ in range(20):
            connection = self.call()
            hello = self.changed(sender=2, to_port=self.where[1])
            connection.sendall(hello)
            challenge = connection.recv(CHALLENGE_BYTES)
            self.tell(challenge)
            transcript = b"fulmar tcp 2: caller".ljust(32, b"\0") + hello + challenge[16:48] + b"\0" * 4
            self.ask(connection, hmac.new(key, transcript, hashlib.sha256).digest())

    def crowd(self):
        """Thousands, as many at a time as this process may have."""
        for _ in range(10):
            many = []
            for _ in range(300):
                one = socket.socket()
                one.setblocking(False)
                one.connect_ex(self.where)
                many.append(one)
            time.sleep(0.1)
            for one in many:
                one.close()


def main(words):
    if words == ["record"]:
        return record()
    kind, address, port, *recorded = words
    return getattr(Stranger(address, int(port), recorded), kind)()


if __name__ == "__main__":
    main(sys.argv[1:])
