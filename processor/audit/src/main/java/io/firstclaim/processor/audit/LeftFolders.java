package io.firstclaim.processor.audit;

import io.firstclaim.lock.TimeSource;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.utils.Utils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folders of earlier starts. An instance that is named at random has a folder of its own for
 * each start, and deletes it when it stops; where it is killed, the folder is left, with gigabytes
 * of state that nobody finds again.
 */
final class LeftFolders {
  private static final Logger LOG = LoggerFactory.getLogger(LeftFolders.class);

  /** What all folders of an application, zone and host begin with, and the random part. */
  private static final Pattern NAME = Pattern.compile("(.+-)[0-9a-f]{8}");

  /** Kafka Streams holds the lock on this file of each application's folder while it runs. */
  private static final String LOCK = ".lock";

  /** Who has just made that file may be about to lock it. */
  private static final Duration NEW = Duration.ofMinutes(1);

  private LeftFolders() {}

  /**
   * Deletes the folders beside this one that have the same name but for the random part, and that
   * nobody uses.
   */
  static void delete(Path own, TimeSource time) {
    Path all = own.getParent();
    String prefix = prefix(own);
    if (all == null || prefix.isEmpty() || !isFolder(all)) {
      return;
    }
    Instant before = time.now().wall().minus(NEW);
    try (DirectoryStream<Path> siblings =
        Files.newDirectoryStream(
            all, each -> !each.equals(own) && prefix(each).equals(prefix) && isFolder(each))) {
      for (Path sibling : siblings) {
        deleteUnlessUsed(sibling, before);
      }
    } catch (IOException | DirectoryIteratorException e) {
      LOG.warn("What earlier starts have left in {} could not be looked for", all, e);
    }
  }

  /** What its name begins with; empty if it has no random part. */
  private static String prefix(Path folder) {
    Matcher name = NAME.matcher(String.valueOf(folder.getFileName()));
    return name.matches() ? name.group(1) : "";
  }

  private static boolean isFolder(Path path) {
    return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
  }

  private static void deleteUnlessUsed(Path folder, Instant before) {
    List<FileChannel> locks = new ArrayList<>();
    try {
      if (areLocked(folder, before, locks)) {
        Utils.delete(folder.toFile()); // a link in it is deleted, and not followed
        LOG.info("Deleted {}, which an earlier start had left", folder);
      }
    } catch (IOException e) {
      LOG.warn("{} is left by an earlier start, and could not be deleted", folder, e);
    } finally {
      locks.forEach(lock -> Utils.closeQuietly(lock, "lock of a folder that was left"));
    }
  }

  /** Locks all that is in the folder; false if that cannot be done, or there is nothing. */
  private static boolean areLocked(Path folder, Instant before, List<FileChannel> locks)
      throws IOException {
    try (DirectoryStream<Path> applications = Files.newDirectoryStream(folder)) {
      for (Path application : applications) {
        Path lock = application.resolve(LOCK);
        if (!isFolder(application)
            || !Files.isRegularFile(lock, LinkOption.NOFOLLOW_LINKS)
            || !Files.getLastModifiedTime(lock).toInstant().isBefore(before)) {
          return false;
        }
        FileChannel channel =
            FileChannel.open(lock, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        locks.add(channel);
        if (channel.tryLock() == null) {
          return false;
        }
      }
      return !locks.isEmpty();
    } catch (OverlappingFileLockException e) {
      return false; // another audit of this process has it
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }
}
