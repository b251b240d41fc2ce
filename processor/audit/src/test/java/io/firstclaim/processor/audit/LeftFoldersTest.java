package io.firstclaim.processor.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstclaim.lock.testkit.ManualTime;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LeftFoldersTest {
  private static final String OWN = "orders-audit-a-host-1-00000001";

  @TempDir Path all;
  private final ManualTime time = ManualTime.start();

  /** A folder as Kafka Streams leaves it when its process is killed. */
  private Path left(String name) throws IOException {
    Path task = all.resolve(name).resolve("orders-audit-a").resolve("0_0").resolve("rocksdb");
    Path _ = Files.writeString(Files.createDirectories(task).resolve("CURRENT"), "MANIFEST");
    Path lock = Files.createFile(lock(all.resolve(name)));
    Path _ = Files.setLastModifiedTime(lock, FileTime.from(time.now().wall()));
    return all.resolve(name);
  }

  private static Path lock(Path folder) {
    return folder.resolve("orders-audit-a").resolve(".lock");
  }

  private void begin() {
    time.advance(Duration.ofMinutes(2));
    LeftFolders.delete(all.resolve(OWN), time);
  }

  @Test
  void folderThatNobodyUses_isDeleted_andOneInUseIsNot() throws IOException {
    Path unused = left("orders-audit-a-host-1-0123abcd");
    Path used = left("orders-audit-a-host-1-4567cdef");
    Path own = left(OWN);

    try (FileChannel channel = FileChannel.open(lock(used), StandardOpenOption.WRITE);
        FileLock lock = channel.lock()) {
      begin();
      assertThat(lock.isValid()).isTrue();
    }

    assertThat(unused).doesNotExist();
    assertThat(lock(used).resolveSibling("0_0/rocksdb/CURRENT")).exists();
    assertThat(own).exists();
  }

  @Test
  void folderOfAnotherForm_isNotTouched() throws IOException {
    for (String name :
        new String[] {
          "orders-audit-a-host-2-0123abcd",
          "orders-audit-ab-host-1-0123abcd",
          "orders-audit-a-host-1",
          "orders-audit-a-host-1-0123abcg",
          "orders-audit-a-host-1-0123abcde",
          "orders-audit-a-host-1-7-0123abcd"
        }) {
      Path other = left(name);
      begin();
      assertThat(other).exists();
    }
  }

  @Test
  void folderWithoutALock_orWithOneThatIsNew_isNotTouched() throws IOException {
    Path without = left("orders-audit-a-host-1-0123abcd");
    Files.delete(lock(without));
    time.advance(Duration.ofMinutes(2));
    Path fresh = left("orders-audit-a-host-1-4567cdef");

    LeftFolders.delete(all.resolve(OWN), time);

    assertThat(without).exists();
    assertThat(fresh).as("its process may be about to lock it").exists();
  }

  @Test
  void linksAreNotFollowed() throws IOException {
    Path elsewhere = left("elsewhere");
    Path link = Files.createSymbolicLink(all.resolve("orders-audit-a-host-1-0123abcd"), elsewhere);
    Path unused = left("orders-audit-a-host-1-4567cdef");
    Path _ = Files.createSymbolicLink(lock(unused).resolveSibling("0_1"), elsewhere);

    begin();

    assertThat(unused).doesNotExist();
    assertThat(link).isSymbolicLink();
    assertThat(lock(elsewhere)).exists();
    assertThat(lock(elsewhere).resolveSibling("0_0/rocksdb/CURRENT")).exists();
  }
}
