/**
 * What an application of any framework keeps whose listeners, handlers and jobs are under claims.
 */
@NullMarked
package io.firstclaim.lock.testkit.framework;

import org.jspecify.annotations.NullMarked;
