@NullMarked
package io.firstclaim.processor.config;

import org.jspecify.annotations.NullMarked;
