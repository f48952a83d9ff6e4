"""Clients of podium-worker serve in one process: so many that ask one request after another, or requests that come by
chance at a rate, whatever the server does (Poisson arrivals). Latency counts from when a request should have been sent. What is
sent or due in the first WARM_UP seconds of a load is not measured."""

import asyncio
import json
import math
import time

WARM_UP = 1.0


class Connections:
    """Kept connections, as many as requests are under way."""

    def __init__(self, port):
        self.port, self.idle = port, []

    async def ask(self, path, body):
        """The status of the answer; 0 where the connection fails."""
        try:
            return await self.ask_once(path, body)
        except (OSError, asyncio.IncompleteReadError):
            return 0

    async def ask_once(self, path, body):
        reader, writer = self.idle.pop() if self.idle else await asyncio.open_connection("127.0.0.1", self.port)
        writer.write((f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                      f"Content-Length: {len(body)}\r\n\r\n").encode() + body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        await reader.readexactly(int(head.split("content-length:")[1].split("\r\n")[0]))
        self.idle.append((reader, writer))
        return int(head.split()[1])

    def close(self):
        for _, writer in self.idle:
            writer.close()


class Measured:
    def __init__(self):
        self.latencies, self.failed, self.seconds = [], 0, 0.0

    def add(self, status, seconds):
        if status == 200:
            self.latencies.append(seconds)
        else:
            self.failed += 1

    @property
    def rate(self):
        return len(self.latencies) / self.seconds

    @property
    def mean(self):
        return sum(self.latencies) / len(self.latencies)

    def milliseconds(self, share):
        """The latency that so many of 100 requests stay within."""
        ordered = sorted(self.latencies)
        return 1e3 * ordered[min(len(ordered) - 1, math.ceil(share / 100 * len(ordered)) - 1)]

    def told(self):
        return {"requests_per_second": self.rate, "failed": self.failed, "mean_ms": 1e3 * self.mean,
                **{f"p{share}_ms": self.milliseconds(share) for share in (50, 90, 99)}}


def bodies(texts):
    return [json.dumps({"text": text}).encode() for text in texts]


def closed_loop(port, path, texts, clients, seconds):
    """So many clients, each of which asks again once it is answered."""
    async def run():
        measured, connections, wanted = Measured(), Connections(port), bodies(texts)
        begin = time.perf_counter() + WARM_UP
        end = begin + seconds

        async def client(number):
            asked = number * 7919
            while (sent := time.perf_counter()) < end:
                status = await connections.ask(path, wanted[asked % len(wanted)])
                asked += 1
                if sent >= begin:
                    measured.add(status, time.perf_counter() - sent)

        await asyncio.gather(*(client(number) for number in range(clients)))
        measured.seconds = time.perf_counter() - begin
        connections.close()
        return measured
    return asyncio.run(run())


def open_loop(port, path, texts, rate, seconds, chance):
    """Requests at a rate, at times drawn by `chance`."""
    async def run():
        measured, connections, wanted = Measured(), Connections(port), bodies(texts)
        begin, due, under_way, number = time.perf_counter(), 0.0, set(), 0

        async def request(body, due):
            status = await connections.ask(path, body)
            if due >= WARM_UP:
                measured.add(status, time.perf_counter() - begin - due)

        while (due := due + chance.expovariate(rate)) < WARM_UP + seconds:
            await asyncio.sleep(max(0.0, begin + due - time.perf_counter()))
            task = asyncio.create_task(request(wanted[number % len(wanted)], due))
            under_way.add(task)
            task.add_done_callback(under_way.discard)
            number += 1
        if under_way:
            await asyncio.gather(*under_way)
        measured.seconds = time.perf_counter() - begin - WARM_UP
        connections.close()
        return measured
    return asyncio.run(run())
