/** Handlers that tests put into jars of their own. */
@NullMarked
package io.firstclaim.processor.service.scenario.handler;

import org.jspecify.annotations.NullMarked;
