/** Deduplication for Spring Boot: the annotations, and mutexes by name. */
@NullMarked
package io.firstclaim.spring;

import org.jspecify.annotations.NullMarked;
