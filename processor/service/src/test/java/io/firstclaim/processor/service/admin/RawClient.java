package io.firstclaim.processor.service.admin;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;

/** Sends bytes that no HTTP client would. */
record RawClient(int port) {
  private static final int MOST = 4096;

  /** The beginning of what comes back; empty if the connection is closed without an answer. */
  String answer(String request) {
    try (Socket socket = connect()) {
      return answer(socket, request);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The same, on a connection that stays open. */
  static String answer(Socket socket, String request) throws IOException {
    socket.getOutputStream().write(request.getBytes(ISO_8859_1));
    byte[] answer = new byte[MOST];
    int length = socket.getInputStream().read(answer);
    return length < 0 ? "" : new String(answer, 0, length, ISO_8859_1);
  }

  Socket connect() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(60_000);
    return socket;
  }
}
