// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

/**
 * A client as Jetty's is: calls stand in a list, and there are a few connections. Whoever has put a
 * call there, or finds a connection free, sends the one that has waited longest. A thread of the
 * client's reads the answers.
 */
final class ListClient {
	private static final int CONNECTIONS = 4;

	private record Call(String head, CompletableFuture<Void> done) {}

	private final Queue<Call> list = new ArrayDeque<>();
	private final Queue<SocketChannel> free = new ArrayDeque<>();
	private final ByteBuffer answer = ByteBuffer.allocate(1024);
	private final Selector selector;

	ListClient(String host, int port) throws IOException {
		selector = Selector.open();
		for (int i = 0; i < CONNECTIONS; i++) {
			SocketChannel channel =
			    SocketChannel.open(new InetSocketAddress(host, port));

			channel.configureBlocking(false);
			channel.register(selector, SelectionKey.OP_READ);
			free.add(channel);
		}
		Thread reader = new Thread(this::readAnswers);
		reader.setDaemon(true);
		reader.start();
	}

	/** Make a call, and wait for its answer. */
	void call(String head) throws Exception {
		Call call = new Call(head, new CompletableFuture<>());

		synchronized (this) {
			list.add(call);
		}
		Thread.yield(); // others may come by meanwhile
		sendNext();
		call.done.get();
	}

	private void sendNext() throws IOException {
		Call call;
		SocketChannel channel;

		synchronized (this) {
			if (list.isEmpty() || free.isEmpty())
				return;
			call = list.remove();
			channel = free.remove();
		}
		channel.keyFor(selector).attach(call);
		channel.write(ByteBuffer.wrap(call.head.getBytes()));
	}

	/** Answers are small, and come in one piece. */
	private void readAnswer(SelectionKey key) throws IOException {
		SocketChannel channel = (SocketChannel)key.channel();
		Call call = (Call)key.attachment();

		answer.clear();
		if (channel.read(answer) <= 0 || call == null)
			throw new IOException("an answer to nothing");
		synchronized (this) {
			free.add(channel);
		}
		call.done.complete(null);
		sendNext();
	}

	private void readAnswers() {
		try {
			while (selector.select() >= 0) {
				for (SelectionKey key : selector.selectedKeys())
					readAnswer(key);
				selector.selectedKeys().clear();
			}
		} catch (IOException error) {
			System.err.println("ListClient: " + error);
		}
	}
}
