package io.firstclaim.spring.jobs;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * A scheduled method that is to run under claims.
 *
 * @param onceAs in whose name each of its fire times is claimed; null if they are not
 * @param mutex that of its runs; null if there is none
 */
record Job(Method method, @Nullable String onceAs, @Nullable String mutex) {}
