@NullMarked
package io.firstclaim.processor.service.redrive;

import org.jspecify.annotations.NullMarked;
