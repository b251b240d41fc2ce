/** The service as it is packaged, several of it, against real servers and real faults. */
@NullMarked
package io.firstclaim.processor.service.scenario;

import org.jspecify.annotations.NullMarked;
