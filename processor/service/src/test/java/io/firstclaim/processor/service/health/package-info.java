@NullMarked
package io.firstclaim.processor.service.health;

import org.jspecify.annotations.NullMarked;
