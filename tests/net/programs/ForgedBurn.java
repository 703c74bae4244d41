// SPDX-License-Identifier: Apache-2.0
import java.net.InetAddress;
import java.net.ServerSocket;

/** Burns CPU in burn_forged() once a line was read. */
public class ForgedBurn {
    static volatile long kept;

    static void burn_forged() {
        long number = 0;
        System.out.println("ready");
        while (number >= 0) {
            number = (number + 1) % 1000003;
            kept = number;
        }
    }

    public static void main(String[] arguments) throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            System.out.println("listening");
            System.in.read();
            burn_forged();
        }
    }
}
