@NullMarked
package io.firstclaim.processor.service;

import org.jspecify.annotations.NullMarked;
