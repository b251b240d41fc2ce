package io.firstclaim.processor.audit;

import io.firstclaim.lock.RecordId;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.jspecify.annotations.Nullable;

/** Rows of one partition, by rising ID; for one thread. */
interface Rows extends AutoCloseable {
  /** The next one; null if there is none. */
  @Nullable Row next();

  @Override
  void close();

  /**
   * A row.
   *
   * @param value as it stands in the store
   */
  @SuppressWarnings("ArrayRecordComponent") // rows are never compared
  record Row(RecordId id, byte[] value) {}

  /** All of a list. */
  static Rows of(KeyValueIterator<byte[], byte[]> list) {
    return new Rows() {
      @Override
      public @Nullable Row next() {
        if (!list.hasNext()) {
          return null;
        }
        KeyValue<byte[], byte[]> entry = list.next();
        return new Row(RecordId.of(entry.key), entry.value);
      }

      @Override
      public void close() {
        list.close();
      }
    };
  }

  /**
   * Records, each as it stands in the first of these buckets that has it.
   *
   * @param buckets the latest first
   * @param prefix what their IDs begin with
   */
  static Rows of(List<KeyValueIterator<Windowed<byte[]>, byte[]>> buckets, byte[] prefix) {
    return new Rows() {
      private final @Nullable Row[] heads = heads();

      private @Nullable Row[] heads() {
        @Nullable Row[] first = new Row[buckets.size()];
        for (int i = 0; i < first.length; i++) {
          first[i] = read(buckets.get(i));
        }
        return first;
      }

      private @Nullable Row read(KeyValueIterator<Windowed<byte[]>, byte[]> bucket) {
        if (!bucket.hasNext()) {
          return null;
        }
        KeyValue<Windowed<byte[]>, byte[]> entry = bucket.next();
        byte[] id = entry.key.key();
        boolean isMeant =
            id.length >= prefix.length
                && Arrays.equals(id, 0, prefix.length, prefix, 0, prefix.length);
        return isMeant ? new Row(RecordId.of(id), entry.value) : null;
      }

      @Override
      public @Nullable Row next() {
        Row least = null;
        for (@Nullable Row head : heads) {
          if (head != null && (least == null || head.id().compareTo(least.id()) < 0)) {
            least = head;
          }
        }
        for (int i = 0; i < heads.length && least != null; i++) {
          @Nullable Row head = heads[i];
          if (head != null && head.id().equals(least.id())) {
            heads[i] = read(buckets.get(i));
          }
        }
        return least;
      }

      @Override
      public void close() {
        buckets.forEach(KeyValueIterator::close);
      }
    };
  }
}
