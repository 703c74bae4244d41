// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.AbstractHandler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** JettyServer PORT: Jetty within the program. */
public final class JettyServer extends AbstractHandler {
	private static final int WORKERS = 48;

	@Override
	public void handle(String target, Request base, HttpServletRequest request, HttpServletResponse response)
	    throws IOException {
		base.setHandled(true);
		Burn.slice(request.getQueryString());
		Burn.pause(Burn.PAUSE_MS);
		Burn.slice(request.getQueryString());
		response.setContentLength(2);
		response.getOutputStream().write("ok".getBytes());
	}

	public static void main(String[] arguments) throws Exception {
		Server server = new Server(new QueuedThreadPool(WORKERS));
		ServerConnector connector = new ServerConnector(server);

		connector.setPort(Integer.parseInt(arguments[0]));
		server.addConnector(connector);
		server.setHandler(new JettyServer());
		Burn.startBackground();
		server.start();
	}
}
