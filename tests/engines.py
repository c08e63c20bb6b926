"""Runs of `scale.tokenize` that are interrupted where a test says."""

from bytepair import scale


class OneByOne:
    """An engine that does one task after the other, here."""

    def run(self, work, tasks):
        """Do the work."""
        return ((task, work(task)) for task in tasks)


def stopped(*arguments, n_tasks=2, **options):
    """End a run after some tasks by Ctrl-C."""

    def stop(progress):
        if progress.done_tasks == n_tasks:
            raise KeyboardInterrupt

    scale.tokenize(*arguments, engine=OneByOne(), progress=stop, **options)
