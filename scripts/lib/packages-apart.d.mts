/** Returns a plugin of rolldown that replaces imports of packages by imports of their files. */
export function importsFrom(files: Readonly<Record<string, string>>): {
  readonly name: string;
  renderChunk(code: string, chunk: { readonly fileName: string }): { readonly code: string };
};
