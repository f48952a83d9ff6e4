// A link that saves a file of the coordinator's, also where that wants a token, which a link does not send.
import { getFile } from "../api/client";
import { explain } from "../api/problem";
import { storedToken } from "../api/token_store";
import { saveAs } from "./save_as";

interface Properties {
  /** What it is called once it is saved. */
  name: string;
  address: string;
  /** What the link says, where that is not the name. */
  text?: string;
  onFailure(text: string): void;
}

export function FileLink({ name, address, text = name, onFailure }: Properties) {
  const save = async (event: Event) => {
    if (storedToken() === null) return;
    event.preventDefault();
    onFailure("");
    try {
      saveAs(name, await getFile(address));
    } catch (error) {
      onFailure(`${name} cannot be saved: ${explain(error)}`);
    }
  };
  return (
    <a href={address} download={name} onClick={(event) => void save(event)}>
      {text}
    </a>
  );
}
