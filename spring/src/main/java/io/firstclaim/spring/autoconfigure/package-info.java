/** What Spring Boot configures by itself from {@code firstclaim.*}. */
@NullMarked
package io.firstclaim.spring.autoconfigure;

import org.jspecify.annotations.NullMarked;
