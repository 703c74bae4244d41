// SPDX-License-Identifier: Apache-2.0

import java.nio.channels.SocketChannel;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Has a channel, waits for a future, a minute at most, and says so beforehand. */
public class Sleep {
	public static void main(String[] arguments) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(1);

		SocketChannel.open();
		executor.submit(() -> System.out.println("x")).get();
		executor.submit(() -> {
			Thread.sleep(60000);
			return null;
		}).get();
	}
}
