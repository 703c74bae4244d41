// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import javax.servlet.ServletException;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.AbstractHandler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * JettyServer ADDRESS PORT url|client: Jetty within the program, and a handler that does the work
 * itself. For the rest see Server.
 */
public class JettyServer {
	private static final int WORKERS = 128;

	private static final class Plans extends AbstractHandler {
		private final Ways ways;

		Plans(Ways ways) {
			this.ways = ways;
		}

		@Override
		public void handle(String target, Request base, HttpServletRequest request,
				   HttpServletResponse response)
		    throws IOException, ServletException {
			base.setHandled(true);
			try {
				ways.carryOut(target, request.getHeader("x-truth"));
			} catch (Exception error) {
				throw new ServletException(error);
			}
			response.setContentLength(2);
			response.getOutputStream().write("ok".getBytes());
		}
	}

	public static void main(String[] arguments) throws Exception {
		Server server = new Server(new QueuedThreadPool(WORKERS));
		ServerConnector connector = new ServerConnector(server);

		connector.setHost(arguments[0]);
		connector.setPort(Integer.parseInt(arguments[1]));
		connector.setAcceptQueueSize(1024);
		server.addConnector(connector);
		server.setHandler(new Plans(new Ways(new Calls(arguments[2]))));
		server.start();
	}
}
