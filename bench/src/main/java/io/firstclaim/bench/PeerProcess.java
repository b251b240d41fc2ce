package io.firstclaim.bench;

import io.firstclaim.lock.testkit.process.ChildJvm;
import io.firstclaim.lock.testkit.process.JvmCommand;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A process of one {@link Peer}, so that its CPU time is its own. It idles between the runs that it
 * is asked for over a connection.
 */
final class PeerProcess implements AutoCloseable {
  private static final Duration START = Duration.ofMinutes(1);
  private static final Duration RUN = Duration.ofMinutes(5);

  private final ChildJvm process;
  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;

  PeerProcess(Peer.Kind kind, String bootstrapServers, URI endpoint, Path log) throws IOException {
    this(kind, System.getProperty("java.class.path"), bootstrapServers, endpoint, log);
  }

  /** With other code than today's on its class path. */
  PeerProcess(Peer.Kind kind, String classPath, String bootstrapServers, URI endpoint, Path log)
      throws IOException {
    InetAddress here = InetAddress.getLoopbackAddress();
    try (ServerSocket server = new ServerSocket(0, 1, here)) {
      server.setSoTimeout(Math.toIntExact(START.toMillis()));
      JvmCommand command =
          JvmCommand.ofMain(kind.name(), classPath, PeerProcess.class.getName())
              .withJvmArgs(List.of("-Xms512m", "-Xmx1g", "--enable-native-access=ALL-UNNAMED"))
              .withArgs(
                  List.of(
                      kind.name(),
                      Integer.toString(server.getLocalPort()),
                      bootstrapServers,
                      endpoint.toString()));
      process = ChildJvm.start(command, log);
      socket = server.accept();
      socket.setSoTimeout(Math.toIntExact(RUN.toMillis()));
    }
    in = new DataInputStream(socket.getInputStream());
    out = new DataOutputStream(socket.getOutputStream());
  }

  Figure run(Peer.Work work) throws IOException {
    out.writeInt(work.records());
    out.writeInt(work.atOnce());
    out.writeUTF(work.topic());
    out.writeUTF(work.outcomes());
    out.writeUTF(work.table());
    try {
      String fault = in.readUTF();
      if (!fault.isEmpty()) {
        throw new IllegalStateException(fault);
      }
      return new Figure(
          Duration.ofNanos(in.readLong()), Duration.ofNanos(in.readLong()), in.readInt());
    } catch (EOFException | SocketTimeoutException e) {
      throw new IllegalStateException(process.name() + " gave no figure: " + process.logTail(), e);
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
    if (!process.waitFor(Duration.ofSeconds(10))) {
      process.close();
    }
  }

  /** The process itself. */
  public static void main(String[] args) throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(args[1]));
        DataInputStream in = new DataInputStream(socket.getInputStream());
        DataOutputStream out = new DataOutputStream(socket.getOutputStream());
        Peer peer = Peer.Kind.valueOf(args[0]).open(args[2], URI.create(args[3]))) {
      while (true) {
        Peer.Work work =
            new Peer.Work(in.readInt(), in.readInt(), in.readUTF(), in.readUTF(), in.readUTF());
        Figure figure;
        try {
          figure = peer.run(work);
        } catch (LinkageError e) { // a door that this code does not have
          out.writeUTF(String.valueOf(e));
          continue;
        }
        out.writeUTF("");
        out.writeLong(figure.wall().toNanos());
        out.writeLong(figure.cpu().toNanos());
        out.writeInt(figure.records());
      }
    } catch (EOFException _) {
      System.exit(0); // nothing more is asked for
    }
  }
}
