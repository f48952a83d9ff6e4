// Saves a file on the reader's machine.
export function saveAs(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has begun to read the file by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
