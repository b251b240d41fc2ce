package io.firstclaim.listener.web;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An answer as it is kept with the claim, whose store bounds the size: JSON in ASCII, with the body
 * in Base64. One that is too large is kept without its body. Immutable.
 */
public final class KeptAnswer {
  /** Tells a client that the answer is a stored one. */
  public static final String REPLAYED = "Idempotent-Replayed";

  /** Tells a client that the answer had a body, which was too large to be stored. */
  public static final String BODY_OMITTED = "Idempotent-Body-Omitted";

  private static final JsonFactory JSON =
      new JsonFactoryBuilder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  /** Headers of this connection or this moment, or with a secret that is made for one reader. */
  private static final Set<String> NOT_STORED =
      Set.of(
          "set-cookie",
          "set-cookie2",
          "connection",
          "keep-alive",
          "proxy-connection",
          "content-length", // it is the length of the body, however that is sent
          "transfer-encoding",
          "trailer",
          "upgrade",
          "date");

  /** What the page of one request may see, which the next may come from another origin than. */
  private static final String OF_ORIGIN = "access-control-";

  private static final String OF_BODY = "content-";

  private static final int OK = 200;

  private final int status;
  private final List<Header> headers;
  private final byte @Nullable [] body;

  /**
   * An answer.
   *
   * @param headers those that are the answer's own, each with one value
   * @param body null if it was left out
   */
  private KeptAnswer(int status, List<Header> headers, byte @Nullable [] body) {
    this.status = status;
    this.headers = List.copyOf(headers);
    this.body = body;
  }

  /** The answer's status. */
  public int status() {
    return status;
  }

  /** The answer's own headers, in their order. */
  public List<Header> headers() {
    return headers;
  }

  /** The answer's body; null if it was left out. */
  public byte @Nullable [] body() {
    return body == null ? null : body.clone();
  }

  /**
   * A header with one of its values.
   *
   * @param name as it is sent
   * @param value one of them
   */
  public record Header(String name, String value) {
    private String lowerCase() {
      return name.toLowerCase(Locale.ROOT);
    }
  }

  /**
   * What to keep of an answer, in no more bytes than this.
   *
   * @param headers all of them, of which those are left out that are not to be kept
   */
  public static String write(int status, List<Header> headers, byte[] body, long most)
      throws IOException {
    List<Header> kept = new ArrayList<>(headers);
    kept.removeIf(KeptAnswer::isOfOneRequest);
    if (body.length <= most) {
      String whole = new KeptAnswer(status, kept, body).text();
      if (whole.length() <= most) {
        return whole;
      }
    }
    kept.removeIf(header -> header.lowerCase().startsWith(OF_BODY));
    String headless = new KeptAnswer(status, kept, null).text();
    return headless.length() <= most ? headless : new KeptAnswer(status, List.of(), null).text();
  }

  private String text() throws IOException {
    StringWriter out = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(out)) {
      json.writeStartObject();
      json.writeNumberField("status", status);
      json.writeObjectFieldStart("headers");
      // One name may come twice, as headers do.
      for (Header header : headers) {
        json.writeStringField(header.name, header.value);
      }
      json.writeEndObject();
      if (body != null) {
        json.writeBinaryField("body", body);
      }
      json.writeEndObject();
    }
    return out.toString();
  }

  /** The answer that was kept; if that cannot be read, the bare fact that the request was done. */
  public static KeptAnswer read(@Nullable String text) {
    if (text != null) {
      try (JsonParser json = JSON.createParser(text)) {
        return read(json);
      } catch (IOException e) {
        // The request is done all the same, and must not be done again.
      }
    }
    return new KeptAnswer(OK, List.of(), null);
  }

  private static KeptAnswer read(JsonParser json) throws IOException {
    int status = OK;
    List<Header> headers = new ArrayList<>();
    byte[] body = null;
    json.nextToken();
    for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
      json.nextToken();
      switch (name) {
        case "status" -> status = json.getIntValue();
        case "headers" -> {
          while (json.nextToken() == JsonToken.FIELD_NAME) {
            headers.add(new Header(json.currentName(), json.nextTextValue()));
          }
        }
        case "body" -> body = json.getBinaryValue();
        default -> json.skipChildren();
      }
    }
    headers.removeIf(KeptAnswer::isOfOneRequest); // an earlier build has kept more
    return new KeptAnswer(status, headers, body);
  }

  private static boolean isOfOneRequest(Header header) {
    String name = header.lowerCase();
    return NOT_STORED.contains(name) || name.startsWith(OF_ORIGIN);
  }
}
