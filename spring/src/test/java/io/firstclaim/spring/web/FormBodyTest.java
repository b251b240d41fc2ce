package io.firstclaim.spring.web;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;

class FormBodyTest {
  @Test
  void whatOfTheQueryCannotBeDecoded_isNoParameter() {
    MockHttpServletRequest request = new MockHttpServletRequest("POST", "/forms");
    request.setQueryString("a=%zz&text=0");
    request.addParameter("text", "0", "x y");
    request.addParameter("a", "1");

    assertThat(new String(FormBody.of(request), UTF_8)).isEqualTo("text=x+y&a=1");
  }
}
