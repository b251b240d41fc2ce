package example.spring;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Starts with {@code --zone=a}, and once more with {@code --zone=b}. */
@SpringBootApplication
public class Application {
  /** Made by Spring. */
  public Application() {}

  /** Runs until it is stopped. */
  public static void main(String[] args) {
    SpringApplication.run(Application.class, args);
  }
}
