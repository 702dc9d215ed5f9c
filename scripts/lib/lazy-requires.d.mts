/**
 * Returns a chunk of rolldown's CommonJS output in which slow modules of Node, and the chunks that the function names, are loaded
 * at their first use.
 */
export function withLazyRequires(code: string, isLazyChunk?: (module: string) => boolean): string;
