package io.firstclaim.processor.audit.topology;

import java.util.Map;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Cache;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteBufferManager;

/**
 * All stores of this process share one cache, which their write buffers and indexes are part of:
 * otherwise each store of each partition would take some hundred megabytes outside the heap. As
 * Kafka's documentation has it ("Bounding memory of RocksDB").
 */
public final class BoundedMemory implements RocksDBConfigSetter {
  private static final long MEGABYTE = 1 << 20;
  private static final long MOST = 64 * MEGABYTE;
  private static final long TOTAL = shared(Runtime.getRuntime().maxMemory());
  private static final long WRITE_BUFFERS = TOTAL * 3 / 8;
  private static final long WRITE_BUFFER = 4 * MEGABYTE;
  private static final double FOR_INDEXES = 0.2;

  static {
    RocksDB.loadLibrary();
  }

  private static final Cache CACHE = new LRUCache(TOTAL, -1, false, FOR_INDEXES);
  private static final WriteBufferManager BUFFERS = new WriteBufferManager(WRITE_BUFFERS, CACHE);

  /**
   * How many bytes all stores share: a process whose heap is small has little memory beside it,
   * too.
   */
  static long shared(long heap) {
    return Math.min(MOST, heap / 4);
  }

  /** Called by Kafka Streams, which makes one for each store. */
  public BoundedMemory() {}

  @Override
  public void setConfig(String store, Options options, Map<String, Object> configs) {
    BlockBasedTableConfig table = (BlockBasedTableConfig) options.tableFormatConfig();
    table.setBlockCache(CACHE);
    table.setCacheIndexAndFilterBlocks(true);
    table.setCacheIndexAndFilterBlocksWithHighPriority(true);
    table.setPinTopLevelIndexAndFilter(true);
    options.setTableFormatConfig(table);
    options.setWriteBufferManager(BUFFERS);
    options.setWriteBufferSize(WRITE_BUFFER);
    options.setMaxWriteBufferNumber(2);
  }

  /** What all stores share stays open. */
  @Override
  public void close(String store, Options options) {}
}
