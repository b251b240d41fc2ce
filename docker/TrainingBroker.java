import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.FetchRequestData;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.FindCoordinatorResponseData;
import org.apache.kafka.common.message.HeartbeatResponseData;
import org.apache.kafka.common.message.InitProducerIdResponseData;
import org.apache.kafka.common.message.JoinGroupRequestData;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.LeaveGroupResponseData;
import org.apache.kafka.common.message.ListOffsetsRequestData;
import org.apache.kafka.common.message.ListOffsetsResponseData;
import org.apache.kafka.common.message.MetadataRequestData;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetCommitResponseData;
import org.apache.kafka.common.message.OffsetFetchRequestData;
import org.apache.kafka.common.message.OffsetFetchResponseData;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.message.ProduceResponseData;
import org.apache.kafka.common.message.ResponseHeaderData;
import org.apache.kafka.common.message.SyncGroupRequestData;
import org.apache.kafka.common.message.SyncGroupResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.RequestUtils;

/**
 * As much of a Kafka broker as a producer and one consumer of a group need, of Kafka's own message
 * classes: topics of one partition, made by whoever names them, in memory.
 */
final class TrainingBroker implements AutoCloseable {
  /** By names, not by topic IDs; and one group a request. */
  private static final Map<ApiKeys, Integer> NEWEST =
      Map.ofEntries(
          Map.entry(ApiKeys.API_VERSIONS, 3),
          Map.entry(ApiKeys.METADATA, 9),
          Map.entry(ApiKeys.INIT_PRODUCER_ID, 4),
          Map.entry(ApiKeys.PRODUCE, 9),
          Map.entry(ApiKeys.FETCH, 12),
          Map.entry(ApiKeys.LIST_OFFSETS, 7),
          Map.entry(ApiKeys.FIND_COORDINATOR, 3),
          Map.entry(ApiKeys.JOIN_GROUP, 7),
          Map.entry(ApiKeys.SYNC_GROUP, 5),
          Map.entry(ApiKeys.HEARTBEAT, 4),
          Map.entry(ApiKeys.LEAVE_GROUP, 4),
          Map.entry(ApiKeys.OFFSET_FETCH, 7),
          Map.entry(ApiKeys.OFFSET_COMMIT, 8));

  private static final String HOST = "127.0.0.1";
  private static final int ID = 1;
  private static final int MOST_BYTES = 1 << 20;
  private static final int EMPTY_FETCH_MILLIS = 20;

  private final ServerSocket server;
  private final Map<String, Log> logs = new ConcurrentHashMap<>();

  TrainingBroker() throws IOException {
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  String bootstrapServers() {
    return HOST + ":" + server.getLocalPort();
  }

  @Override
  public void close() throws IOException {
    server.close();
  }

  /** A partition: its batches by their first offsets. */
  private static final class Log {
    private final TreeMap<Long, ByteBuffer> batches = new TreeMap<>();
    private long end;

    /** Returns the first offset. */
    synchronized long append(MemoryRecords records) {
      long first = end;
      for (MutableRecordBatch batch : records.batches()) {
        long count = batch.lastOffset() - batch.baseOffset() + 1;
        batch.setLastOffset(end + count - 1);
        ByteBuffer copy = ByteBuffer.allocate(batch.sizeInBytes());
        batch.writeTo(copy);
        batches.put(end, copy.flip());
        end += count;
      }
      return first;
    }

    synchronized long end() {
      return end;
    }

    synchronized MemoryRecords from(long offset) {
      if (offset >= end) {
        return MemoryRecords.EMPTY;
      }
      List<ByteBuffer> found = new ArrayList<>();
      int size = 0;
      for (ByteBuffer batch : batches.tailMap(batches.floorKey(offset), true).values()) {
        if (size + batch.remaining() > MOST_BYTES && !found.isEmpty()) {
          break;
        }
        found.add(batch);
        size += batch.remaining();
      }
      ByteBuffer all = ByteBuffer.allocate(size);
      found.forEach(batch -> all.put(batch.duplicate()));
      return MemoryRecords.readableRecords(all.flip());
    }
  }

  private Log log(String topic) {
    return logs.computeIfAbsent(topic, name -> new Log());
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        Thread.ofVirtual().start(() -> serve(socket));
      }
    } catch (IOException closed) {
      // The training is over.
    }
  }

  private void serve(Socket socket) {
    try (socket;
        DataInputStream in = new DataInputStream(socket.getInputStream());
        DataOutputStream out = new DataOutputStream(socket.getOutputStream())) {
      socket.setTcpNoDelay(true);
      while (true) {
        ByteBuffer request = ByteBuffer.wrap(in.readNBytes(in.readInt()));
        ByteBuffer answer = answer(request);
        out.writeInt(answer.remaining());
        out.write(answer.array(), answer.arrayOffset() + answer.position(), answer.remaining());
        out.flush();
      }
    } catch (EOFException | SocketException ended) {
      // A client that has had enough.
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private ByteBuffer answer(ByteBuffer buffer) throws InterruptedException {
    RequestHeader header = RequestHeader.parse(buffer);
    ApiKeys key = header.apiKey();
    short version = header.apiVersion();
    ApiMessage request = ApiMessageType.fromApiKey(key.id).newRequest();
    request.read(new ByteBufferAccessor(buffer), version);
    return RequestUtils.serialize(
        new ResponseHeaderData().setCorrelationId(header.correlationId()),
        key.responseHeaderVersion(version),
        answer(key, request),
        version);
  }

  private ApiMessage answer(ApiKeys key, ApiMessage request) throws InterruptedException {
    return switch (key) {
      case API_VERSIONS -> versions();
      case METADATA -> metadata((MetadataRequestData) request);
      case INIT_PRODUCER_ID -> new InitProducerIdResponseData().setProducerId(1).setProducerEpoch((short) 0);
      case PRODUCE -> produce((ProduceRequestData) request);
      case FETCH -> fetch((FetchRequestData) request);
      case LIST_OFFSETS -> offsets((ListOffsetsRequestData) request);
      case FIND_COORDINATOR ->
          new FindCoordinatorResponseData().setNodeId(ID).setHost(HOST).setPort(server.getLocalPort());
      case JOIN_GROUP -> join((JoinGroupRequestData) request);
      case SYNC_GROUP -> sync((SyncGroupRequestData) request);
      case HEARTBEAT -> new HeartbeatResponseData();
      case LEAVE_GROUP -> new LeaveGroupResponseData();
      case OFFSET_FETCH -> committed((OffsetFetchRequestData) request);
      case OFFSET_COMMIT -> commit((OffsetCommitRequestData) request);
      default -> throw new IllegalArgumentException("not served: " + key);
    };
  }

  private static ApiMessage versions() {
    var all = new ApiVersionsResponseData.ApiVersionCollection();
    NEWEST.forEach(
        (key, newest) ->
            all.add(
                new ApiVersionsResponseData.ApiVersion()
                    .setApiKey(key.id)
                    .setMinVersion(key.oldestVersion())
                    .setMaxVersion(newest.shortValue())));
    return new ApiVersionsResponseData().setApiKeys(all);
  }

  private ApiMessage metadata(MetadataRequestData request) {
    if (request.topics() != null) {
      request.topics().forEach(topic -> log(topic.name()));
    }
    var brokers = new MetadataResponseData.MetadataResponseBrokerCollection();
    brokers.add(
        new MetadataResponseData.MetadataResponseBroker()
            .setNodeId(ID)
            .setHost(HOST)
            .setPort(server.getLocalPort()));
    var topics = new MetadataResponseData.MetadataResponseTopicCollection();
    for (String name : logs.keySet()) {
      topics.add(
          new MetadataResponseData.MetadataResponseTopic()
              .setName(name)
              .setTopicId(Uuid.ZERO_UUID)
              .setPartitions(
                  List.of(
                      new MetadataResponseData.MetadataResponsePartition()
                          .setLeaderId(ID)
                          .setLeaderEpoch(0)
                          .setReplicaNodes(List.of(ID))
                          .setIsrNodes(List.of(ID)))));
    }
    return new MetadataResponseData()
        .setBrokers(brokers)
        .setClusterId("training")
        .setControllerId(ID)
        .setTopics(topics);
  }

  private ApiMessage produce(ProduceRequestData request) {
    var topics = new ProduceResponseData.TopicProduceResponseCollection();
    for (var topic : request.topicData()) {
      long first = log(topic.name()).append((MemoryRecords) topic.partitionData().get(0).records());
      topics.add(
          new ProduceResponseData.TopicProduceResponse()
              .setName(topic.name())
              .setPartitionResponses(
                  List.of(
                      new ProduceResponseData.PartitionProduceResponse()
                          .setIndex(0)
                          .setBaseOffset(first)
                          .setLogStartOffset(0))));
    }
    return new ProduceResponseData().setResponses(topics);
  }

  /** Without sessions: each fetch names all that it wants. */
  private ApiMessage fetch(FetchRequestData request) throws InterruptedException {
    List<FetchResponseData.FetchableTopicResponse> topics = new ArrayList<>();
    boolean empty = true;
    for (var topic : request.topics()) {
      Log log = log(topic.topic());
      MemoryRecords records = log.from(topic.partitions().get(0).fetchOffset());
      empty &= records.sizeInBytes() == 0;
      topics.add(
          new FetchResponseData.FetchableTopicResponse()
              .setTopic(topic.topic())
              .setPartitions(
                  List.of(
                      new FetchResponseData.PartitionData()
                          .setPartitionIndex(0)
                          .setHighWatermark(log.end())
                          .setLastStableOffset(log.end())
                          .setLogStartOffset(0)
                          .setRecords(records))));
    }
    if (empty) {
      Thread.sleep(EMPTY_FETCH_MILLIS);
    }
    return new FetchResponseData().setResponses(topics);
  }

  private ApiMessage offsets(ListOffsetsRequestData request) {
    List<ListOffsetsResponseData.ListOffsetsTopicResponse> topics = new ArrayList<>();
    for (var topic : request.topics()) {
      topics.add(
          new ListOffsetsResponseData.ListOffsetsTopicResponse()
              .setName(topic.name())
              .setPartitions(
                  List.of(
                      new ListOffsetsResponseData.ListOffsetsPartitionResponse()
                          .setPartitionIndex(0)
                          .setTimestamp(-1)
                          .setOffset(0)
                          .setLeaderEpoch(0))));
    }
    return new ListOffsetsResponseData().setTopics(topics);
  }

  /** Whoever joins is the only member, and so decides who reads what. */
  private static ApiMessage join(JoinGroupRequestData request) {
    var protocol = request.protocols().iterator().next();
    String member = request.memberId().isEmpty() ? "member" : request.memberId();
    return new JoinGroupResponseData()
        .setGenerationId(1)
        .setProtocolType(request.protocolType())
        .setProtocolName(protocol.name())
        .setLeader(member)
        .setMemberId(member)
        .setMembers(
            List.of(
                new JoinGroupResponseData.JoinGroupResponseMember()
                    .setMemberId(member)
                    .setMetadata(protocol.metadata())));
  }

  private static ApiMessage sync(SyncGroupRequestData request) {
    return new SyncGroupResponseData()
        .setProtocolType(request.protocolType())
        .setProtocolName(request.protocolName())
        .setAssignment(request.assignments().get(0).assignment());
  }

  private static ApiMessage committed(OffsetFetchRequestData request) {
    List<OffsetFetchResponseData.OffsetFetchResponseTopic> topics = new ArrayList<>();
    for (var topic : request.topics()) {
      topics.add(
          new OffsetFetchResponseData.OffsetFetchResponseTopic()
              .setName(topic.name())
              .setPartitions(
                  List.of(
                      new OffsetFetchResponseData.OffsetFetchResponsePartition()
                          .setPartitionIndex(0)
                          .setCommittedOffset(-1))));
    }
    return new OffsetFetchResponseData().setTopics(topics);
  }

  private static ApiMessage commit(OffsetCommitRequestData request) {
    List<OffsetCommitResponseData.OffsetCommitResponseTopic> topics = new ArrayList<>();
    for (var topic : request.topics()) {
      topics.add(
          new OffsetCommitResponseData.OffsetCommitResponseTopic()
              .setName(topic.name())
              .setPartitions(
                  List.of(
                      new OffsetCommitResponseData.OffsetCommitResponsePartition()
                          .setPartitionIndex(0))));
    }
    return new OffsetCommitResponseData().setTopics(topics);
  }
}
