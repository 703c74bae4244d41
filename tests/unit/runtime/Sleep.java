// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Waits for a future, a minute at most, and says so beforehand. */
public class Sleep {
	public static void main(String[] arguments) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(1);

		executor.submit(() -> System.out.println("x")).get();
		executor.submit(() -> {
			Thread.sleep(60000);
			return null;
		}).get();
	}
}
