/**
 * A name as a file system may compare it that takes no notice of case, nor of how a letter is put together: to one `.ſsh` is `.ssh`.
 */
export function foldedName(name: string): string {
  return name.normalize("NFC").toUpperCase().toLowerCase();
}
