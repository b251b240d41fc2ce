@NullMarked
package io.firstclaim.processor.service.config;

import org.jspecify.annotations.NullMarked;
