/**
 * Returns the entries that users and other programs set: all keys that do not begin with `_`. Separate from `member-metadata.ts`, so
 * that cold commands load no zod for it.
 */
export function visibleMetadata(
  metadata: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(metadata ?? {}).filter(([key]) => !key.startsWith("_")));
}
