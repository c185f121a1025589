"""An asyncio loop in a thread of its own, for proxies that tests drive from theirs."""
import asyncio
import threading


class LoopThread:
    def __init__(self, name):
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def call(self, coroutine, seconds=30):
        """The result of a coroutine that runs on the loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(seconds)

    def stop(self):
        self.call(self._cancel_all())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(10)
        self.loop.close()

    @staticmethod
    async def _cancel_all():
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
