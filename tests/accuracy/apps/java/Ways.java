// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Where the calls of a request come from (MODE):
 *
 * s the handler's thread
 * t a new thread each, one after the other; p new threads, all at once
 * q the threads of another executor; i the same, all at once (invokeAll)
 * w the same, but the handler does something else before it asks for the result
 * c the same by CompletableFuture; d by a chain of them
 * f tasks of a ForkJoinPool that fork others
 * a HttpClient.sendAsync()
 * b the same, begun by a thread of another executor, which goes on with something else
 * e tasks of another executor that the first requests begin, and that take calls out of a queue
 * l the threads of another executor, 4 calls at once: whoever is done hands over the next
 * k the same, handed over by submit(), like q
 * m by HttpClient.sendAsync(), 4 calls at once: whoever is done begins the next
 * n by HttpClient.sendAsync(): whoever comes by begins all that waits, after a pause; r by submit()
 * h a new thread each, which goes on with what was laid by last, by whomever
 * v all at once by parallelStream(): the handler's thread, and those of the pool of all
 */
final class Ways {
	private static final int POOL_SIZE = 8;
	private static final int AT_ONCE = 4;
	private static final int LAY_BY_MS = 2; // long enough for others to lay something by
	private final ExecutorService pool = Executors.newFixedThreadPool(POOL_SIZE);
	private final ForkJoinPool forks = new ForkJoinPool(POOL_SIZE);
	private final ExecutorService takers = Executors.newCachedThreadPool();
	private final BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
	private final AtomicInteger taking = new AtomicInteger();
	private final Queue<Runnable> waiting = new ArrayDeque<>();
	private final Queue<Runnable> batch = new LinkedBlockingQueue<>();
	private final Deque<Runnable> laidBy = new LinkedBlockingDeque<>();
	private final Calls calls;
	private int running;

	Ways(Calls calls) {
		this.calls = calls;
	}

	private Thread inThread(String truth) {
		Thread thread = new Thread(() -> calls.call(truth));

		thread.start();
		return thread;
	}

	private void inThreads(int number, String truth) throws InterruptedException {
		List<Thread> threads = new ArrayList<>();

		for (int i = 0; i < number; i++)
			threads.add(inThread(truth));
		for (Thread thread : threads)
			thread.join();
	}

	private void invokeAll(int number, String truth) throws InterruptedException {
		List<Callable<Void>> all = new ArrayList<>();

		for (int i = 0; i < number; i++)
			all.add(() -> calls.call(truth));
		pool.invokeAll(all);
	}

	private void later(String truth) throws Exception {
		Future<Void> result = pool.submit(() -> calls.call(truth));

		Thread.sleep(1);
		result.get();
	}

	private CompletableFuture<Void> supplied(String truth) {
		return CompletableFuture.supplyAsync(() -> calls.call(truth), pool);
	}

	private CompletableFuture<String> chain(String truth) {
		return CompletableFuture.supplyAsync(() -> truth, pool)
		    .thenComposeAsync(it -> supplied(it).thenApply(none -> it), pool)
		    .thenApplyAsync(it -> it + "!", forks);
	}

	private Void forked(String truth) {
		Future<Void> result = forks.submit((Callable<Void>)() -> calls.call(truth));

		try {
			result.get();
		} catch (Exception error) {
			System.err.println("Server: " + error);
		}
		return null;
	}

	private Void take() throws InterruptedException {
		while (true)
			queue.take().run();
	}

	private void queued(String truth) throws InterruptedException {
		CountDownLatch done = new CountDownLatch(1);

		if (taking.getAndIncrement() < POOL_SIZE)
			takers.submit(this::take);
		queue.add(() -> {
			calls.call(truth);
			done.countDown();
		});
		done.await();
	}

	private static void pause() throws InterruptedException {
		Thread.sleep(ThreadLocalRandom.current().nextInt(LAY_BY_MS + 1));
	}

	/** Whoever is done begins the next call that waits, whoever asked for it. */
	private synchronized void next(Executor by) {
		Runnable next = waiting.poll();

		if (next == null)
			running--;
		else
			by.execute(next);
	}

	private synchronized void inTurn(Executor by, Runnable call) {
		if (running == AT_ONCE) {
			waiting.add(call);
			return;
		}
		running++;
		by.execute(call);
	}

	private void limited(Executor by, String truth) throws InterruptedException {
		CountDownLatch done = new CountDownLatch(1);

		inTurn(by, () -> {
			calls.call(truth);
			done.countDown();
		});
		done.await();
		next(by);
	}

	private void limitedAsync(String truth) throws InterruptedException {
		CountDownLatch done = new CountDownLatch(1);

		inTurn(Runnable::run,
		       () -> calls.begin(truth).whenComplete((none, error) -> done.countDown()));
		done.await();
		next(Runnable::run);
	}

	private void inBatch(Executor by, Consumer<Runnable> call) throws InterruptedException {
		CountDownLatch done = new CountDownLatch(1);
		Runnable next;

		batch.add(() -> call.accept(done::countDown));
		pause();
		while ((next = batch.poll()) != null)
			by.execute(next);
		done.await();
	}

	private void callForLast() {
		try {
			pause();
		} catch (InterruptedException error) {
			return;
		}
		laidBy.pop().run();
	}

	private void byWhoever(String truth) throws InterruptedException {
		CountDownLatch done = new CountDownLatch(1);

		laidBy.push(() -> {
			calls.call(truth);
			done.countDown();
		});
		new Thread(this::callForLast).start();
		done.await();
	}

	private void one(char mode, String truth) throws Exception {
		switch (mode) {
		case 's' -> calls.call(truth);
		case 't' -> inThread(truth).join();
		case 'q' -> pool.submit(() -> calls.call(truth)).get();
		case 'w' -> later(truth);
		case 'c' -> supplied(truth).get();
		case 'd' -> chain(truth).get();
		case 'f' -> forks.submit(() -> forked(truth)).get();
		case 'a' -> calls.begin(truth).get();
		case 'b' -> pool.submit(() -> calls.begin(truth)).get().get();
		case 'e' -> queued(truth);
		case 'l' -> limited(pool, truth);
		case 'k' -> limited(pool::submit, truth);
		case 'm' -> limitedAsync(truth);
		case 'n' -> inBatch(Runnable::run, done -> calls.begin(truth).thenRun(done));
		case 'r' -> inBatch(pool::submit, done -> {
			calls.call(truth);
			done.run();
		});
		case 'h' -> byWhoever(truth);
		default -> throw new IllegalArgumentException("mode " + mode);
		}
	}

	/** Make so many calls, with a pause in ms between them. */
	void make(int number, int between, char mode, String truth) throws Exception {
		if (mode == 'p') {
			inThreads(number, truth);
			return;
		}
		if (mode == 'v') {
			Collections.nCopies(number, truth).parallelStream().forEach(calls::call);
			return;
		}
		if (mode == 'i') {
			invokeAll(number, truth);
			return;
		}
		for (int i = 0; i < number; i++) {
			Thread.sleep(i == 0 ? 0 : between);
			one(mode, truth);
		}
	}

	/** Do what a target says, see Server. */
	void carryOut(String target, String truth) throws Exception {
		String[] plan = target.split("/");

		Thread.sleep(Integer.parseInt(plan[1]));
		make(Integer.parseInt(plan[4]), Integer.parseInt(plan[2]), plan[5].charAt(0),
		     truth);
		Thread.sleep(Integer.parseInt(plan[3]));
	}
}
