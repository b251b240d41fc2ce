/** Deduplication for Spring Boot: its annotations. */
@NullMarked
package io.firstclaim.spring;

import org.jspecify.annotations.NullMarked;
