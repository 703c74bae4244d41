// SPDX-License-Identifier: Apache-2.0
/* As burn_server.c and burn_wait.c (without the writer), in Java: java BurnWait.java PORT TRUTH. */
import java.io.*;
import java.lang.management.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.ReentrantLock;

public class BurnWait {
	static final long AFTERWARDS_US = 4000;
	static final int NAP_MS = 100, HOLD_MS = 50, REST_MS = 1, UPSTREAM_PORT = 9000;
	static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
	static final ReentrantLock LOCK = new ReentrantLock();
	static final long PID = ProcessHandle.current().pid();
	static FileOutputStream truth;
	static volatile long result;

	interface Stage {
		void run() throws Exception;
	}

	/* Threads have no id of the kernel's that Java tells. */
	static void tell(long start, String what) throws IOException {
		String line = PID + " 0 " + start + " " + System.nanoTime() + " " + what + "\n";

		truth.write(line.getBytes(StandardCharsets.US_ASCII));
	}

	static void burn(String request, long cpuUs) throws IOException {
		long end = THREADS.getCurrentThreadCpuTime() + cpuUs * 1000, start = System.nanoTime();

		while (THREADS.getCurrentThreadCpuTime() < end)
			for (int i = 0; i < 1000; i++)
				result = result * 31 + i;
		tell(start, request);
	}

	static void takeNap() throws InterruptedException {
		Thread.sleep(NAP_MS);
	}

	static void takeLock() {
		LOCK.lock();
	}

	static void holdLock() throws InterruptedException {
		Thread.sleep(HOLD_MS);
		LOCK.unlock();
	}

	static void askUpstream(InetAddress client) throws IOException {
		try (Socket upstream = new Socket(client, UPSTREAM_PORT)) {
			upstream.getOutputStream().write(
			    "GET / HTTP/1.1\r\nHost: upstream\r\nConnection: close\r\n\r\n".getBytes());
			upstream.getInputStream().readAllBytes();
		}
	}

	static void stage(String what, Stage stage) throws Exception {
		long start = System.nanoTime();

		stage.run();
		tell(start, what);
	}

	static void waitAround(String request, InetAddress client) throws Exception {
		stage(request + ".take_nap", BurnWait::takeNap);
		stage(request + ".take_lock", BurnWait::takeLock);
		stage(request + ".hold_lock", BurnWait::holdLock);
		stage(request + ".ask_upstream", () -> askUpstream(client));
		Thread.sleep(REST_MS);
	}

	/* The path of the next request; null: the connection is over. */
	static String readHead(InputStream in) throws IOException {
		byte[] head = new byte[4096];
		int used = 0, got;

		while ((got = in.read(head, used, head.length - used)) > 0) {
			String text = new String(head, 0, used += got, StandardCharsets.US_ASCII);

			if (text.endsWith("\r\n\r\n"))
				return text.split(" ")[1];
		}
		return null;
	}

	static void serve(Socket connection) {
		try (connection) {
			String path;

			connection.setTcpNoDelay(true);
			while ((path = readHead(connection.getInputStream())) != null) {
				String[] part = path.split("/");

				burn(part[2], Long.parseLong(part[1]));
				if (part.length > 3)
					waitAround(part[2], connection.getInetAddress());
				connection.getOutputStream().write(
				    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".getBytes());
				burn("-", AFTERWARDS_US);
			}
		} catch (Exception error) {
			error.printStackTrace();
		}
	}

	public static void main(String[] args) throws IOException {
		ServerSocket listener = new ServerSocket(Integer.parseInt(args[0]), 64);

		truth = new FileOutputStream(args[1], true);
		while (true) {
			Socket connection = listener.accept();

			new Thread(() -> serve(connection)).start();
		}
	}
}
