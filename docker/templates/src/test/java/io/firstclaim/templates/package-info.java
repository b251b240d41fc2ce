/** What is asked of the templates that operators take: the chart, the manifests, the stacks. */
@NullMarked
package io.firstclaim.templates;

import org.jspecify.annotations.NullMarked;
