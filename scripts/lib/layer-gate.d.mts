/** Sentences for violations of the layers in a source tree: path below src/ → source text. */
export function layerViolations(sources: ReadonlyMap<string, string>): string[];
/** Sentences for differences between the table of docs/architecture.md and the folders of src/. */
export function documentViolations(markdown: string, files: Iterable<string>): string[];
