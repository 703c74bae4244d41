// SPDX-License-Identifier: Apache-2.0
// As burn_server.c (without its writer), in Java: Burn.java PORT TRUTH. Nothing is written to TRUTH:
// threads of Java do not know their numbers.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

public class Burn {
	static final int AFTERWARDS_US = 4000, BACKGROUND_US = 2000, PAUSE_MS = 10, ROUNDS = 2000, STEPS = 40;
	static final byte[] ANSWER =
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".getBytes(StandardCharsets.US_ASCII);
	static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
	static volatile int sink;

	static int round(int value) {
		for (int i = 0; i < ROUNDS; i++)
			value = value * 31 + i;
		return value;
	}

	/** Compilers put this into burn(). */
	static void step() {
		for (int i = 0; i < STEPS; i++)
			sink = round(sink);
	}

	static void burn(int cpuUs) {
		long end = THREADS.getCurrentThreadCpuTime() + cpuUs * 1000L;

		while (THREADS.getCurrentThreadCpuTime() < end)
			step();
	}

	/** The request line; null: the connection is over. */
	static String readHead(BufferedReader in) throws IOException {
		String first = in.readLine(), line = first;

		while (line != null && !line.isEmpty())
			line = in.readLine();
		return first;
	}

	static void answerAll(Socket connection) throws IOException {
		BufferedReader in = new BufferedReader(
			new InputStreamReader(connection.getInputStream(), StandardCharsets.US_ASCII));
		OutputStream out = connection.getOutputStream();

		for (String line = readHead(in); line != null; line = readHead(in)) {
			burn(Integer.parseInt(line.split("/")[1]));
			out.write(ANSWER);
			burn(AFTERWARDS_US);
		}
	}

	static void serve(Socket connection) {
		try (connection) {
			connection.setTcpNoDelay(true);
			answerAll(connection);
		} catch (IOException e) {
			System.err.println(e);
		}
	}

	static void work() {
		try {
			while (true) {
				burn(BACKGROUND_US);
				Thread.sleep(PAUSE_MS);
			}
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	public static void main(String[] args) throws IOException {
		try (ServerSocket listener = new ServerSocket(Integer.parseInt(args[0]), 64)) {
			Thread background = new Thread(Burn::work);

			background.setDaemon(true);
			background.start();
			while (true) {
				Socket connection = listener.accept();

				new Thread(() -> serve(connection)).start();
			}
		}
	}
}
