/** Returns the declarations that the exports of the entry need, as one text without imports. */
export function bundleTypes(
  entry: string,
  read: (path: string) => string,
  resolve: (from: string, specifier: string) => string,
): string;
