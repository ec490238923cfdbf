/** Logo and name. */
import icon from '../styles/icon.svg';
import styles from './wordmark.module.css';

export function Wordmark() {
  return (
    <span className={styles.mark}>
      <img src={icon} alt="" width="24" height="24" />
      Weir
    </span>
  );
}
