@NullMarked
package io.firstclaim.processor.engine.setting;

import org.jspecify.annotations.NullMarked;
