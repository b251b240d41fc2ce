/** One instance of the service: how its parts are made, and how it starts and stops. */
@NullMarked
package io.firstclaim.processor.service.instance;

import org.jspecify.annotations.NullMarked;
