// SPDX-License-Identifier: Apache-2.0

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What the servers in Java burn CPU with, in methods whose names tell for which endpoint, and the file of truth (TRUTH of
 * the environment: one line for each slice). BACKGROUND: a thread burns for nobody.
 */
final class Burn {
	static final int SLICE_US = 2000, PAUSE_MS = 2, BACKGROUND_MS = 20, ROUNDS = 2000, TRIALS = 50, TRIAL_STEPS = 200;
	private static final Path SELF = Path.of("/proc/thread-self");
	private static final FileOutputStream TRUTH = openTruth();
	private static volatile int sink;
	private static final long STEPS = stepsOfSlice();

	private Burn() {
	}

	private static FileOutputStream openTruth() {
		try {
			return new FileOutputStream(System.getenv().getOrDefault("TRUTH", "/dev/null"), true);
		} catch (IOException error) {
			throw new IllegalStateException(error);
		}
	}

	private static int round(int value) {
		for (int i = 0; i < ROUNDS; i++)
			value = value * 31 + i;
		return value;
	}

	private static void step(int more) {
		sink = round(sink + more);
	}

	/** How many steps take a slice where nothing else runs: time on the CPU cannot be asked for by virtual threads. */
	private static long stepsOfSlice() {
		long best = Long.MAX_VALUE;

		for (int trial = 0; trial < TRIALS; trial++) {
			long start = System.nanoTime();

			for (int i = 0; i < TRIAL_STEPS; i++)
				step(0);
			best = Math.min(best, System.nanoTime() - start);
		}
		return SLICE_US * 1000L * TRIAL_STEPS / best;
	}

	private static void burn_a() {
		for (long i = 0; i < STEPS; i++)
			step(0);
	}

	private static void burn_b() {
		for (long i = 0; i < STEPS; i++)
			step(1);
	}

	private static void burn_background() {
		for (long i = 0; i < STEPS; i++)
			step(2);
	}

	/** Process and thread. */
	private static String self() throws IOException {
		return Files.readSymbolicLink(SELF).toString().replace("/task/", " ");
	}

	/** For the request with this id, whose first letter is its endpoint, "-": for none. */
	static void slice(String id) {
		long start = System.nanoTime(), end; // CLOCK_MONOTONIC

		switch (id.charAt(0)) {
		case 'a' -> burn_a();
		case 'b' -> burn_b();
		default -> burn_background();
		}
		end = System.nanoTime();
		try {
			TRUTH.write(String.format("%s %d %d %s\n", self(), start, end, id)
					.getBytes(StandardCharsets.US_ASCII));
		} catch (IOException error) {
			System.err.println(error);
		}
	}

	static void pause(int milliseconds) {
		try {
			Thread.sleep(milliseconds);
		} catch (InterruptedException error) {
			Thread.currentThread().interrupt();
		}
	}

	private static void burnOn() {
		while (!Thread.currentThread().isInterrupted()) {
			slice("-");
			pause(BACKGROUND_MS);
		}
	}

	static void startBackground() {
		if (System.getenv("BACKGROUND") == null)
			return;
		Thread thread = new Thread(Burn::burnOn);
		thread.setDaemon(true);
		thread.start();
	}
}
